import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.jail.wire import HEADER, Frames, WireError, pack, read, unpack, write

SURROGATE = "\ud800"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=())),  # lone surrogates included
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(JSON, st.integers(1, 9))
def test_what_is_packed_comes_out_again_however_it_is_cut(value: object, step: int) -> None:
    frames = Frames(cap=1_000_000)
    data = pack(value) + pack("next")
    found = []
    for start in range(0, len(data), step):
        frames.feed(data[start : start + step])
        while (frame := frames.next()) is not None:
            found.append(unpack(frame))
    assert found == [value, "next"]


def test_a_lone_surrogate_passes() -> None:
    assert unpack(pack(SURROGATE)[HEADER.size :]) == SURROGATE


def test_a_frame_beyond_the_cap_is_refused_before_it_is_read() -> None:
    frames = Frames(cap=10)
    frames.feed(HEADER.pack(11))
    with pytest.raises(WireError):
        frames.next()


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_a_wire_error(body: bytes) -> None:
    with pytest.raises(WireError):
        unpack(body)


def test_a_frame_larger_than_the_pipe_is_read_whole() -> None:
    reading, writing = os.pipe()
    frame = pack("a" * 1_000_000)
    thread = threading.Thread(target=write, args=(writing, frame))
    thread.start()
    assert read(reading, 2_000_000) == frame[HEADER.size :]
    thread.join()
    os.close(writing)
    assert read(reading, 10) is None
    os.close(reading)


@pytest.mark.parametrize("part", [b"\0\0", pack("abc")[:-1]])
def test_a_pipe_that_ends_inside_a_frame_is_at_its_end(part: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, part)
    os.close(writing)
    assert read(reading, 100) is None
    os.close(reading)


def test_a_worker_reads_no_frame_beyond_its_cap() -> None:
    reading, writing = os.pipe()
    os.write(writing, HEADER.pack(101))
    with pytest.raises(WireError):
        read(reading, 100)
    os.close(writing)
    os.close(reading)
