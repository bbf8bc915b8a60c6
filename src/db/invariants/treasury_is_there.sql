-- The treasuries have at the last final block what the books say.
-- To do: USDC has left a treasury, and no transfer explains it. Payouts are paused: see `pinrail settlement status`.
select format('%s on chain %s', token, chain_id) as subject,
  format('at block %s the treasuries have %s less than the books', scanned_number, readable_amount(missing_micro, 'USDC')) as difference
from chain_cursor where missing_micro > 0
