-- A payment has at most one open sale at the converter.
-- To do: The same money may be sold twice. Ask the converter to end all but the first.
select payment_id as subject, format('sales %s are open', string_agg(number::text, ', ' order by number)) as difference
from sale where payment_id = any($1) and state = 'asked' group by payment_id having count(*) > 1
