-- Up Migration

-- An endpoint is deleted after its deliveries, in the transaction of its merchant.
grant delete on delivery to pinrail_tenant;
