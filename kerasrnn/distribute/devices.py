"""Checks of a number of devices."""


def check_count(devices: int | None, found: int) -> int | None:
    """Returns `devices`, or raises a `ValueError` if it is more than found."""
    if devices is not None and devices > found:
        raise ValueError(
            f"`devices` must be at most {found}, the number of devices of "
            f"this machine. Received: devices={devices}"
        )
    return devices
