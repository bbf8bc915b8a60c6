-- Up Migration

-- Why a payout can never be paid although nobody could cancel it (the key of its treasury is gone): the chain's final time
-- is past every signature, and its nonce is unused at that block, as the quorum of providers says.
create table void_proof (
  payment_id text primary key references payout,
  block_number bigint not null,
  block_hash chain_hash not null,
  -- Unix seconds: of the block, and after which the last signature is worth nothing.
  block_time bigint not null,
  valid_before bigint not null,
  proved_at timestamptz not null,
  check (block_time >= valid_before)
);

-- Voided means refundable: not without the proof.
create function payout_is_voided_by_proof() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from void_proof where payment_id = new.payment_id)
    and not exists (select 1 from treasury_log l where l.kind = 'cancel' and l.auth_nonce = new.auth_nonce
      and l.treasury = new.treasury and l.token = new.token and l.chain_id = new.chain_id)
  then raise exception 'payout % cannot be voided without a proof', new.payment_id;
  end if;
  return new;
end $$;
create trigger payout_is_voided_by_proof before update on payout for each row
  when (new.state = 'voided' and old.state is distinct from new.state)
  execute function payout_is_voided_by_proof();
