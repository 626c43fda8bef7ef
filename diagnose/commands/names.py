"""The commands, each with the function that runs it."""

from __future__ import annotations

COMMANDS = {
    "log": "diagnose.commands.log:log",
    "compare": "diagnose.commands.compare:compare",
    "config": "diagnose.commands.config:config",
    "explain": "diagnose.commands.explain:explain",
    "patterns": "diagnose.commands.patterns:patterns",
    "wrap": "diagnose.commands.wrap:wrap",
    "slurm": "diagnose.commands.slurm:slurm",
    "hook": "diagnose.commands.hook:hook",
    "watch": "diagnose.commands.watch:watch",
    "serve": "diagnose.commands.serve:serve",
    "doctor": "diagnose.commands.doctor:doctor",
}
