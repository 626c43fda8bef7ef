"""Statistics over iterations: level changes, drift, stalls, spikes. Plain Python on lists of floats."""
