-- Up Migration

-- A payment is created with its event, in the statement of the api.
grant select, insert, update on event_sequence to pinrail_tenant;
