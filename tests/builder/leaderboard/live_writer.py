"""A process that writes to a database as a running MixSeek does, until it is killed or told to stop.

Usage: python live_writer.py DATABASE PAUSE_SECONDS. Says "ready", then the number of rounds committed so far,
a line for each; a line on its standard input ends it.
"""

import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from builder.leaderboard.writer import RoundKey, SimulatedDatabase

EXECUTION = "11111111-2222-4333-8444-555555555555"


def main(path: Path, pause: float) -> None:
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    with SimulatedDatabase(path) as database:
        print("ready", flush=True)
        number = 0
        while not stop.is_set():
            number += 1
            now = datetime.now(UTC)
            key = RoundKey(EXECUTION, "team-001", "Live", number)
            with database.transaction():
                database.save_submission(key, "x" * 20_000, {"overall_score": float(number)}, now)
                database.save_status(key, now, now, now)
            if number % 3 == 0:
                database.checkpoint()
            print(number, flush=True)
            time.sleep(pause)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
