-- Up Migration

-- What is on its way back knows the state that it has again when the partner refuses: parts of one attempt may have had
-- several. What is on its way now had the state of its account, and of its attempt.
alter table part add column state_before text check (state_before in ('counted', 'surplus', 'late'));
update part p set state_before = case
    when p.account = 'merchant_payable' and a.status not in ('surplus', 'late') then 'counted'
    when a.status = 'late' then 'late' else 'surplus' end
  from attempt a where a.id = p.attempt_id and p.state = 'returning';
alter table part add check ((state = 'returning') = (state_before is not null));
