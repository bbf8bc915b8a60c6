-- Up Migration

-- For which taking by the sweep (`swept_at`) Temporal has said that there is a workflow. Only then is it left alone for longer.
alter table delivery add column looked_after_at timestamptz;
