#!/bin/sh
# The server makes its settings from variables; it needs its own address among them.
set -eu
TEMPORAL_BROADCAST_ADDRESS=$(hostname -i | cut -d ' ' -f 1)
export TEMPORAL_BROADCAST_ADDRESS
exec temporal-server start
