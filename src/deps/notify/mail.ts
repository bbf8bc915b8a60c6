import type { WorkerConfig } from '../../config/config.ts'
import { readPlatform } from '../../config/platform.ts'
import { splitSecrets } from '../../config/secret.ts'
import type { Db } from '../../db/db.ts'
import { newId } from '../../ids.ts'
import { composeBuyerMail } from '../../notify/buyer-mail.ts'
import { createMailSender, type MailSender } from '../../notify/mail.ts'
import { noticeMail } from '../../notify/notice-mail.ts'
import type { Logger } from '../../runtime/log.ts'
import { createSecretBox } from '../../webhooks/secret-box.ts'
import type { Loop } from '../../worker/loop.ts'
import { type BuyerMailRoundDeps, createBuyerMailRound } from '../../worker/notify/buyer-mail-round.ts'
import { type MailRoundDeps, sendDueMail } from '../../worker/notify/mail-round.ts'
import { createNoticeRound, type NoticeRoundDeps } from '../../worker/notify/notice-round.ts'
import type { WorkWakeups } from '../../worker/work-look.ts'

/** Null without a mail server. */
export function connectMail(config: WorkerConfig): MailSender | null {
  const { SMTP_URL: url, MAIL_FROM: from } = config
  return url === undefined ? null : createMailSender({ url: url.reveal(), from, platform: readPlatform(config) })
}

/** No loops without a mail server. */
export function composeMail(
  config: WorkerConfig,
  { db, log, clock, wakeups }: { db: Db; log: Logger; clock: () => number; wakeups: WorkWakeups },
): { loops: Loop[]; close: () => void } {
  const sender = connectMail(config)
  if (sender === null) return { loops: [], close: () => undefined }
  const box = createSecretBox(
    config.WEBHOOK_ENCRYPTION_KEY.reveal(),
    splitSecrets(config.RETIRED_WEBHOOK_ENCRYPTION_KEYS),
  )
  const deps: MailRoundDeps = {
    db,
    log,
    clock,
    open: (sealed, id) => box.open(sealed, id),
    send: (mail) => sender.send(mail),
  }
  const writing = {
    db,
    clock,
    seal: (text: string, id: string) => box.seal(text, id),
    newMailId: () => newId('mail'),
    publicUrl: config.PUBLIC_URL,
  }
  const notices: NoticeRoundDeps = { ...writing, noticeMail }
  const buyerMails: BuyerMailRoundDeps = { ...writing, composeBuyerMail }
  const everyMs = config.RELAY_TICK_MS
  return {
    loops: [
      { name: 'notices', everyMs, tick: createNoticeRound(notices), idle: { wakeup: wakeups.notices }, log },
      {
        name: 'buyer_mails',
        everyMs,
        tick: createBuyerMailRound(buyerMails),
        idle: { wakeup: wakeups.buyer_mails },
        log,
      },
      { name: 'mail', everyMs, tick: () => sendDueMail(deps), idle: { wakeup: wakeups.mail }, log },
    ],
    close: () => sender.close(),
  }
}
