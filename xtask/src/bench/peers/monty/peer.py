"""The same programs, in Python, under `pydantic-monty`. Prints rows in the form of ours.

Arguments: the group, the folder of the programs.
"""

import asyncio
import gc
import json
import math
import sys
import time
from pathlib import Path

from pydantic_monty import AsyncMonty, FunctionSnapshot, FutureSnapshot, Monty, MontyComplete

GROUP, PROGRAMS = sys.argv[1], Path(sys.argv[2])
RUNS = 400
LIMITS = {'max_memory': 64 * 1024 * 1024, 'max_feed_duration_secs': 60}

SMALL = 'rows = [1]'
KEPT = [
    ('a small cell', SMALL, RUNS),
    ('a cell with 1,000 objects', "rows = [{'id': n, 'name': f'row {n}'} for n in range(1000)]", RUNS),
    ('a cell with 10 MiB of text', 'rows = [str(n % 10) * 65536 for n in range(160)]', RUNS // 8),
]

rows = []


def times(what, seconds):
    """Adds times, which are given in seconds."""
    seconds.sort()
    p50, p99 = (seconds[len(seconds) * percentile // 100] * 1e6 for percentile in (50, 99))
    rows.append({'group': GROUP, 'what': what, 'unit': 'µs', 'p50': p50, 'p99': p99})


def number(what, unit, p50):
    rows.append({'group': GROUP, 'what': what, 'unit': unit, 'p50': p50})


def measure(what, runs, body):
    """Measures `body`, after runs that do not count."""
    seconds = []
    for run in range(-math.ceil(runs / 8), runs):
        start = time.perf_counter()
        body()
        if run >= 0:
            seconds.append(time.perf_counter() - start)
    times(what, seconds)


def execute(pool, code):
    """Runs a program to its end in a fresh session of a warm worker."""
    with pool.checkout(limits=LIMITS) as session:
        session.feed_run(code, external_lookup={'tool_1': lambda argument: argument})


def execute_at_once(pool, code):
    """The same for a program that awaits several calls together: all are made before any is answered."""
    with pool.checkout(limits=LIMITS) as session:
        snapshot, asked = session.feed_start(code), {}
        while not isinstance(snapshot, MontyComplete):
            if isinstance(snapshot, FunctionSnapshot):
                asked[snapshot.call_id] = snapshot.args[0]
                snapshot = snapshot.resume({'future': ...})
            elif isinstance(snapshot, FutureSnapshot):
                pending = snapshot.pending_call_ids
                snapshot = snapshot.resume({call: {'return_value': asked.pop(call)} for call in pending})
            else:
                snapshot = snapshot.resume_auto()


async def rate(clients, cells):
    async def client(pool):
        for _ in range(cells // clients):
            async with pool.checkout(limits=LIMITS) as session:
                await session.feed_run('1+1')

    async with AsyncMonty() as pool:
        start = time.perf_counter()
        await asyncio.gather(*(client(pool) for _ in range(clients)))
        number(f'`return 1+1`, {clients} at a time', 'cells/s', cells / (time.perf_counter() - start))


def cells(pool):
    measure('fresh VM, `return 1+1`', RUNS, lambda: execute(pool, '1+1'))
    for calls in (0, 1, 10, 100):
        code = f"for i in range({calls}):\n    tool_1({{'i': i}})\n1"
        measure(f'{calls} calls of `tool_1`, one after the other', RUNS, lambda: execute(pool, code))
    for calls in (10, 100):
        gather = f"await asyncio.gather(*[tool_1({{'i': i}}) for i in range({calls})])"
        code = f'import asyncio\nasync def main():\n    return {gather}\nawait main()'
        measure(f'{calls} calls of `tool_1` at once', RUNS, lambda: execute_at_once(pool, code))
    for clients in (1, 16):
        asyncio.run(rate(clients, 4 * RUNS))


def cpu(pool):
    for name in ('fib', 'loops', 'json', 'sort', 'strings', 'regex', 'map'):
        code = (PROGRAMS / f'{name}.py').read_text()
        measure(name, 25, lambda: execute(pool, code))


def suspend(pool, keep):
    """Runs a program until it waits, and returns its image."""
    with pool.checkout(limits=LIMITS) as session:
        return session.feed_start(f'{keep}\nyield_control()\nlen(rows)').dump()


def resume(pool, image):
    with pool.checkout(limits=LIMITS) as session:
        done = session.load_snapshot(image).resume({'return_value': None})
        assert isinstance(done, MontyComplete)


def resident_bytes():
    status = Path('/proc/self/status').read_text()
    line = next(line for line in status.splitlines() if line.startswith('VmRSS:'))
    return int(line.split()[1]) * 1024


def images(pool):
    suspend(pool, SMALL)
    gc.collect()
    before, kept = resident_bytes(), []
    for count in (1, 64, 1000):
        while len(kept) < count:
            kept.append(suspend(pool, SMALL))
        gc.collect()
        more = max(0, resident_bytes() - before)
        number(f'{count} suspended small cells', 'MiB more', more / (1024 * 1024))
    for what, keep, _ in KEPT:
        number(f'image of {what}', 'KiB', len(suspend(pool, keep)) / 1024)
    for what, keep, runs in KEPT:
        parked, resumed = [], []
        for run in range(-math.ceil(runs / 8), runs):
            start = time.perf_counter()
            image = suspend(pool, keep)
            between = time.perf_counter()
            resume(pool, image)
            if run >= 0:
                parked.append(between - start)
                resumed.append(time.perf_counter() - between)
        times(f'exec and suspend {what}', parked)
        times(f'restore and resume {what}', resumed)


with Monty() as pool:
    {'cells': cells, 'cpu': cpu, 'images': images}[GROUP](pool)
print(json.dumps(rows))
