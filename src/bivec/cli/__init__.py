"""The command line: each verb is a few lines that call the library.

Data goes to standard output and everything else to standard error. An error is one readable line
and exit code 2; ``--debug`` anywhere on the line shows the traceback.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any

import typer

import bivec
from bivec.cli import (
    combine,
    datasets,
    doctor,
    embed,
    evaluate,
    explore,
    graph,
    model,
    reproduce,
    use,
)
from bivec.errors import BivecError

# Typer carries a click of its own in new versions; its base class is found by way of a public name.
_UsageError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(
    name="bivec",
    help="Vectors for both sides of a bipartite graph: learn them, look at them, use them.",
    epilog="First steps:  bivec info ratings.csv   ·   bivec COMMAND --help",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verbs in (graph, embed, combine, model, use, explore, datasets, evaluate, reproduce, doctor):
    verbs.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bivec {bivec.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (works anywhere).")
    ] = False,
) -> None:
    """Take the options that stand before a verb; ``main`` has taken --debug out already."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show is no error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        code = app(words, prog_name="bivec", standalone_mode=False)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            return 2
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "bivec"
        return _fail(f"{error.format_message().rstrip('.')}. Try '{path} --help'.")
    except (BivecError, MemoryError) as error:
        if debug:
            raise
        return _fail(str(error) or "out of memory")
    except typer.Abort:
        return _fail("aborted", code=1)
    except OSError as error:  # standard output, as the library explains its own files
        if debug:
            raise
        return _fail(f"cannot write the output ({error.strerror or error})")
    except Exception as error:
        if debug:
            raise
        return _fail(
            f"unexpected {type(error).__name__}: {error}. "
            "This is a bug in bivec; run again with --debug for the traceback to report."
        )
    if code == 130:
        return _fail("interrupted", code=130)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int = 2) -> int:
    sys.stderr.write(f"bivec: {' '.join(message.split())}\n")
    return code
