#!/bin/sh
# Makes the namespace with its retention, and the search attributes that operators search payments by. Safe to run again.
set -eu
until temporal operator cluster health; do sleep 1; done
temporal operator namespace describe --namespace default ||
  temporal operator namespace create --namespace default --retention 168h
temporal operator namespace update --namespace default --retention 168h
known=$(temporal operator search-attribute list --namespace default)
for pair in PaymentStatus=Keyword MerchantId=Keyword Provider=Keyword Currency=Keyword \
  NeedsOperator=Bool AmountMinor=Int ExpiresAt=Datetime; do
  echo "$known" | grep -qw "${pair%=*}" ||
    temporal operator search-attribute create --namespace default --name "${pair%=*}" --type "${pair#*=}"
done
# The frontend answers before the service that hands out tasks: after a quick restart that one looks for the servers of
# before for most of a minute.
until temporal task-queue describe --namespace default --task-queue payments; do sleep 1; done
