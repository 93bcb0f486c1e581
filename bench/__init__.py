"""Side-by-side measurements: what this program costs, against something everybody knows, in the same run."""
