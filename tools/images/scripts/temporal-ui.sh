#!/bin/sh
# Writes the settings that the image of Temporal's UI takes from its variables.
set -eu
cat >/tmp/docker.yaml <<END
temporalGrpcAddress: $TEMPORAL_ADDRESS
host: 0.0.0.0
port: 8080
enableUi: true
END
exec temporal-ui --root /tmp --config . --env docker start
