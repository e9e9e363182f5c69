"""The ids of a side: order, lookup, kinds, and what is refused."""

import enum
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bivec.errors import InputError, UnknownIdError
from bivec.ids import Vocabulary

NAMES = ["Alien", "Brazil", "Clue", "Dune"]
NUMBERS = [30, -1, 0, 2**62]


@pytest.mark.parametrize("ids", [NAMES, NUMBERS])
def test_is_a_sequence(ids):
    vocabulary = Vocabulary(ids)
    assert list(vocabulary) == ids
    assert len(vocabulary) == 4
    assert [vocabulary[i] for i in range(-4, 4)] == ids + ids
    assert vocabulary[np.int32(1)] == ids[1]
    assert vocabulary[1:3] == ids[1:3]
    assert vocabulary[::-2] == ids[::-2]
    assert vocabulary.index(ids[2]) == 2
    assert list(vocabulary.take(np.array([3, 0]))) == [ids[3], ids[0]]
    assert list(vocabulary.take(np.array([], dtype=np.int32))) == []


@pytest.mark.parametrize("index", [4, -5])
def test_index_out_of_range(index):
    with pytest.raises(IndexError, match="outside the 4 rows"):
        Vocabulary(NAMES)[index]


def test_index_of_another_type():
    with pytest.raises(TypeError):
        Vocabulary(NAMES)[1.5]


@pytest.mark.parametrize(
    "source",
    [
        NAMES,
        tuple(NAMES),
        iter(NAMES),
        dict.fromkeys(NAMES),
        np.array(NAMES),
        np.array(NAMES, object),
        pa.array(NAMES),
        pa.array(NAMES).dictionary_encode(),
        pa.array(NAMES, "string_view"),
        pa.chunked_array([NAMES[:1], NAMES[1:]]),
        Vocabulary(NAMES),
        [np.str_(name) for name in NAMES],
        list(enum.StrEnum("Movie", [(name, name) for name in NAMES])),
        list(enum.Enum("Movie", [(name, name) for name in NAMES], type=str)),
    ],
    ids=lambda source: type(source).__name__,
)
def test_sources_of_text(source):
    vocabulary = Vocabulary(source)
    assert list(vocabulary) == NAMES
    assert not vocabulary.is_integer
    assert vocabulary.to_arrow().type == pa.large_string()
    assert vocabulary == Vocabulary(NAMES)
    assert hash(vocabulary) == hash(Vocabulary(NAMES))


@pytest.mark.parametrize(
    "source",
    [[1, 2], range(1, 3), np.array([1, 2], np.uint8), pa.array([1, 2], "i2"), (1, np.int8(2))],
)
def test_sources_of_integers(source):
    vocabulary = Vocabulary(source)
    assert list(vocabulary) == [1, 2]
    assert vocabulary.is_integer
    assert vocabulary.to_numpy().dtype == np.int64


def test_numbered():
    assert Vocabulary.numbered(3) == Vocabulary([0, 1, 2])
    assert len(Vocabulary.numbered(0)) == len(Vocabulary([])) == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True))
def test_every_id_is_found_in_its_row(ids):
    vocabulary = Vocabulary(ids)
    assert list(vocabulary) == ids
    assert vocabulary.rows(ids).tolist() == list(range(len(ids)))
    assert all(name in vocabulary for name in ids)
    assert all(vocabulary.row(name) == i for i, name in enumerate(ids))


@pytest.mark.parametrize("wanted", [["Clue", "nope", "Alien", "Clue"], ["nope"], [], ["Dune"]])
def test_find_marks_what_is_not_there(wanted):
    expected = [NAMES.index(name) if name in NAMES else -1 for name in wanted]
    assert Vocabulary(NAMES).find(wanted).tolist() == expected


@pytest.mark.parametrize("key", ["alien", "", "\ud800", 5, True, None, 1.0, b"Alien", ("Alien",)])
def test_not_among_names(key):
    assert key not in Vocabulary(NAMES)
    assert Vocabulary(NAMES).find([key, key]).tolist() == [-1, -1]


@pytest.mark.parametrize("key", ["5\n", " 5", "05", "+5", "5.0", 5.0, True, 2**63, -(2**70), "٥"])
def test_not_among_numbers(key):
    assert key not in Vocabulary([5, 1, 2**62])


@pytest.mark.parametrize("number", [5, -7, 0, 2**63 - 1, -(2**63)])
def test_digits_and_their_integer_are_one_node(number):
    assert Vocabulary([3, number]).row(str(number)) == 1
    assert Vocabulary(["3", str(number)]).row(number) == 1
    assert Vocabulary(["3", str(number)]).row(np.int64(number)) == 1


def test_a_single_string_is_one_id():
    assert Vocabulary(NAMES).rows("Clue").tolist() == [2]


@pytest.mark.parametrize(
    "ids, wanted, message",
    [
        (NAMES, ["Aliens"], r"no left node 'Aliens' among 4 ids; did you mean 'Alien'\?"),
        (NAMES, ["CLUE"], r"did you mean 'Clue'\?"),
        (NAMES, ["x", "y"], r"no left node 'x', 'y' among 4 ids\."),
        (NAMES, list("stuvw"), r"'s', 't', 'u' and 2 more among"),
        (NUMBERS, [31], r"no left node 31 among 4 ids\."),
    ],
)
def test_unknown_ids(ids, wanted, message):
    with pytest.raises(UnknownIdError, match=message) as caught:
        Vocabulary(ids, side="left").rows(wanted)
    assert isinstance(caught.value, LookupError)


def test_repeated_ids():
    with pytest.raises(InputError, match=r"the right ids are not distinct: 'a'\. Give each node"):
        Vocabulary(["a", "b", "a"], side="right")


def test_equality_is_by_kind_and_order():
    assert Vocabulary(["a", "b"]) != Vocabulary(["b", "a"])
    assert Vocabulary(["1", "2"]) != Vocabulary([1, 2])
    assert Vocabulary(["a"]) != ["a"]


def test_arrays():
    assert np.array(Vocabulary(NAMES)).tolist() == NAMES
    assert np.asarray(Vocabulary(NUMBERS), dtype=float).tolist() == [float(n) for n in NUMBERS]


@pytest.mark.parametrize("ids", [NAMES, NUMBERS])
def test_pickle(ids):
    assert pickle.loads(pickle.dumps(Vocabulary(ids))) == Vocabulary(ids)


def test_repr_is_short():
    assert repr(Vocabulary(["a", "b"])) == "Vocabulary(['a', 'b'], n=2)"
    assert repr(Vocabulary.numbered(5000)) == "Vocabulary([0, 1, 2, ...], n=5,000)"


def test_memory_is_that_of_the_characters():
    n = 10_000
    assert Vocabulary.numbered(n).nbytes == 8 * n
    assert Vocabulary([f"{i:08}" for i in range(n)]).nbytes <= (8 + 8) * n + 8


def test_numpy_gets_a_copy_of_its_own():
    for values in (NUMBERS, ["a", "b"]):
        vocabulary = Vocabulary(values)
        array = np.array(vocabulary)
        array[0] = values[1]
        assert list(vocabulary) == list(values)
    assert not np.asarray(Vocabulary(NUMBERS)).flags.writeable
    assert np.array(Vocabulary(NUMBERS), copy=False).tolist() == list(NUMBERS)
    with pytest.raises(ValueError):
        np.array(Vocabulary(["a"]), copy=False)
