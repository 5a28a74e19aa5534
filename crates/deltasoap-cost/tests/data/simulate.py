"""Simulates queueing networks with ciw, and writes what it found to queueing.json beside this file.

    pip install ciw==3.2.7 && python simulate.py

Each network is think time, link in, processor, link out, in a circle (closed) or from outside to outside (open). All times are
exponential. Mean and deviation are of independent runs.
"""

import json
import math
import pathlib
import statistics

import ciw

RUNS = 8

CLOSED = [  # clients, think, link in, processor, cores, link out
    (1, 1.0, 0.01, 0.1, 2, 0.02),
    (10, 1.0, 0.01, 0.1, 1, 0.02),
    (10, 1.0, 0.01, 0.1, 2, 0.02),
    (30, 1.0, 0.01, 0.1, 2, 0.02),
    (40, 2.0, 0.01, 0.2, 4, 0.04),
    (20, 0.5, 0.03, 0.05, 4, 0.03),
]
OPEN = [  # rate, link in, processor, cores, link out
    (5.0, 0.01, 0.1, 1, 0.02),
    (15.0, 0.01, 0.1, 2, 0.02),
    (35.0, 0.01, 0.1, 4, 0.02),
]


def closed_run(case, seed):
    clients, think, link_in, processor, cores, link_out = case
    ciw.seed(seed)
    rates = [1 / mean for mean in (think, link_in, processor, link_out)]
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([0.001] * clients + [math.inf]), None, None, None],
        service_distributions=[ciw.dists.Exponential(rate) for rate in rates],
        number_of_servers=[math.inf, 1, cores, 1],
        routing=[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]],
    )
    simulation = ciw.Simulation(network)
    warm, end = 50.0, 1050.0
    simulation.simulate_until_max_time(end)
    called = [r for r in simulation.get_all_records() if r.node == 1 and warm < r.exit_date <= end]
    throughput = len(called) / (end - warm)
    return throughput, clients / throughput - statistics.mean(r.service_time for r in called)


def open_run(case, seed):
    rate, link_in, processor, cores, link_out = case
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate), None, None],
        service_distributions=[ciw.dists.Exponential(1 / mean) for mean in (link_in, processor, link_out)],
        number_of_servers=[1, cores, 1],
        routing=[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
    )
    simulation = ciw.Simulation(network)
    warm, end = 50.0, 1550.0
    simulation.simulate_until_max_time(end)
    records = [r for r in simulation.get_all_records() if warm < r.arrival_date and r.exit_date <= end]
    visits = {}
    for record in records:
        visits.setdefault(record.id_number, []).append(record)
    whole = [v for v in visits.values() if len(v) == 3]
    spans = [max(r.exit_date for r in v) - min(r.arrival_date for r in v) for v in whole]
    return len(whole) / (end - warm), statistics.mean(spans)


def summary(run, case):
    throughputs, responses = zip(*(run(case, seed) for seed in range(RUNS)))
    names = ("throughput", "throughput_deviation", "response", "response_deviation")
    figures = [f(list(x)) for x in (throughputs, responses) for f in (statistics.mean, statistics.stdev)]
    return {name: round(figure, 6) for name, figure in zip(names, figures)}


def main():
    closed_names = ("clients", "think", "link_in", "processor", "cores", "link_out")
    open_names = ("rate", "link_in", "processor", "cores", "link_out")
    found = {
        "made_by": f"simulate.py with ciw {ciw.__version__}, {RUNS} runs each",
        "closed": [dict(zip(closed_names, case)) | summary(closed_run, case) for case in CLOSED],
        "open": [dict(zip(open_names, case)) | summary(open_run, case) for case in OPEN],
    }
    path = pathlib.Path(__file__).with_name("queueing.json")
    path.write_text(json.dumps(found, indent=1) + "\n")


main()
