#!/bin/sh
# Brings Temporal's two databases to the schema of this server. Safe to run again.
set -eu
for name in temporal visibility; do
  database=temporal
  [ "$name" = temporal ] || database="temporal_$name"
  tool() { temporal-sql-tool --plugin postgres12 --ep postgres -p 5432 -u temporal --db "$database" "$@"; }
  tool create
  tool setup-schema -v 0.0
  tool update-schema -d "/etc/temporal/schema/postgresql/v12/$name/versioned"
done
