#!/bin/bash
# Runs a session of Deadheat on the nodes of a Slurm job. Copy this file, adapt it, and submit it. Arguments are options
# of `deadheat run`:
#
#   sbatch slurm.sh --stack 'rust-*' --workload users
#
# The servers run on the first node. The others load them, and the last of three or more has the database if a workload
# needs one. The results are in the folder that you submit the job from. docs/hosts.md explains the rest.

#SBATCH --job-name=deadheat
# One node for the servers, the others for the load and the database:
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
# Other jobs on these nodes would take CPU time from the measurement.
#SBATCH --exclusive
#SBATCH --time=01:00:00
# Sends Ctrl-C to Deadheat early enough for its report.
#SBATCH --signal=B:INT@60
# For another partition than the cluster's default, remove one # of this line:
##SBATCH --partition=NAME

# If deadheat is not on the PATH of the nodes, set DEADHEAT to its path.
exec "${DEADHEAT:-deadheat}" run --slurm "$@"
