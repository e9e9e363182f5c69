"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# No deadline, as the first example may compile a kernel; the same examples in every run.
settings.register_profile(
    "bivec",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("bivec")
