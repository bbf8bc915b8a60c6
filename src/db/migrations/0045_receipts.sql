-- Up Migration

-- Receipts that anyone can verify offline. Nodes forget receipts of blocks, so the proof is fetched soon after the payout
-- is final, and kept. One proof serves all the payments of a transaction: a full batch has one of 30 kB.
create table receipt_proof (
  chain_id int not null,
  block_hash chain_hash not null,
  tx_index int not null check (tx_index >= 0),
  -- The header in RLP: its keccak256 is the block's hash.
  header bytea not null,
  -- From the header's receiptsRoot to the receipt of the transaction, each in RLP.
  nodes bytea[] not null check (cardinality(nodes) between 1 and 16),
  primary key (chain_id, block_hash, tx_index)
);

-- Every key that ever signed a receipt, for as long as there are receipts: published, with its RFC 7638 thumbprint.
create table receipt_key (
  kid text primary key,
  -- Ed25519, base64url.
  x text not null check (x ~ '^[A-Za-z0-9_-]{43}$'),
  first_used_at timestamptz not null default now()
);

-- A receipt rests on the log that ended the payout and goes with it, when a final block was replaced after all.
create table payment_receipt (
  payment_id text primary key references payment,
  chain_id int not null,
  tx_hash chain_hash not null,
  log_index int not null,
  block_hash chain_hash not null,
  tx_index int not null,
  -- The two logs, as people read them.
  logs jsonb not null,
  -- A JSON Web Signature (RFC 7515, 7.2.2) in its three parts.
  protected text not null,
  payload text not null,
  signature text not null,
  kid text not null references receipt_key,
  issued_at timestamptz not null,
  foreign key (chain_id, tx_hash, log_index) references treasury_log on delete cascade,
  foreign key (chain_id, block_hash, tx_index) references receipt_proof
);
create unique index on payment_receipt (chain_id, tx_hash, log_index);

alter table payment_receipt enable row level security;
create policy own on payment_receipt for select to pinrail_tenant
  using (exists (select 1 from payment where payment.id = payment_id));
alter table receipt_proof enable row level security;
create policy own on receipt_proof for select to pinrail_tenant
  using (exists (select 1 from payment_receipt r where (r.chain_id, r.block_hash, r.tx_index)
    = (receipt_proof.chain_id, receipt_proof.block_hash, receipt_proof.tx_index)));
create index on payment_receipt (chain_id, block_hash, tx_index);
grant select on payment_receipt, receipt_proof to pinrail_tenant;

-- When the proof of a settled payout is to be fetched, or tried again. Null: the receipt is there.
alter table treasury_log add column receipt_due_at timestamptz default now();
create index treasury_log_without_receipt on treasury_log (receipt_due_at)
  where receipt_due_at is not null and payment_id is not null and kind = 'out';
