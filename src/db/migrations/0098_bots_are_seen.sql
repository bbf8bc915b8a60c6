-- Up Migration

-- When a process that writes as this bot said so last. A deployment whose token was taken away says it no more, and
-- then the channels of Telegram say that they wait.
alter table telegram_bot add column seen_at timestamptz not null default now();

-- A buyer who is about to be too late gets more time, once.
alter table payment add column expiry_extended boolean not null default false;
