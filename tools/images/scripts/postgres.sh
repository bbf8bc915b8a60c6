#!/bin/sh
# Does what the image of Postgres does at its first start: a cluster, and the scripts of docker-entrypoint-initdb.d.
set -eu
data=/var/lib/postgresql/data
bin=/usr/lib/postgresql/bin
run() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
if [ ! -e "$data/PG_VERSION" ]; then
  mkdir -p "$data"
  chown postgres:postgres "$data"
  password=$(mktemp)
  printf %s "$POSTGRES_PASSWORD" >"$password"
  chown postgres "$password"
  run "$bin/initdb" --pgdata="$data" --username="$POSTGRES_USER" --pwfile="$password" --auth-local=trust \
    --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  rm "$password"
  printf 'host all all all scram-sha-256\n' >>"$data/pg_hba.conf"
  run "$bin/pg_ctl" --pgdata="$data" --wait -o "-c listen_addresses= -c unix_socket_directories=/tmp" start
  for script in /docker-entrypoint-initdb.d/*.sql; do
    psql --host=/tmp --username="$POSTGRES_USER" --dbname=postgres --set=ON_ERROR_STOP=1 --file="$script"
  done
  run "$bin/pg_ctl" --pgdata="$data" --wait stop
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups \
  "$bin/postgres" -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp
