-- Up Migration

-- Money that the partner reported otherwise than it was asked for, and that no book has, was given back from elsewhere, and
-- the partner had not said how much it was. When it corrects its order, the same money must not be paid out, and not be
-- given back through the partner.
alter table attempt add column returned_by_hand boolean not null default false;
