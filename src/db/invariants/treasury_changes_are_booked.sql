-- The ledger accounts `treasury`, and `merchant_payable` with `reserve`, in USDC are the sums of `treasury_change`. The first is compared with the chain at each final block, and their difference is the float.
-- To do: Somebody has written to one of the two by hand. Until they agree, no comparison with the chain means anything: stop the workers, and find out which is right.
select account as subject, format('the ledger has %s, and the changes sum to %s',
  readable_amount(ledger, 'USDC'), readable_amount(changes, 'USDC')) as difference
from (select coalesce(sum(micro), 0) as micro, coalesce(-sum(owed_micro), 0) as owed from treasury_change) change,
  lateral (values
    ('treasury', (select coalesce(sum(amount), 0) from ledger_entry where account = 'treasury'), change.micro),
    ('merchant_payable', (select coalesce(sum(amount), 0) from ledger_entry
      where account in ('merchant_payable', 'reserve') and asset = 'USDC'), change.owed)) as compared(account, ledger, changes)
where ledger <> changes
