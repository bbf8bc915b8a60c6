-- What proves that a buyer got money from elsewhere proves it once, however it is written.
-- To do: One transfer was recorded for two payments, so one buyer may have nothing. Find the bank's own reference of each.
select d.payment_id as subject, format('%s proves version %s, and version %s of %s', d.proof, d.version, other.version, other.payment_id) as difference
from decision d join decision other on plain_proof(other.proof) = plain_proof(d.proof)
  and (other.payment_id, other.version) <> (d.payment_id, d.version)
where d.payment_id = any($1)
