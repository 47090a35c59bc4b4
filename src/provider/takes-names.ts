/**
 * Whether an upstream's wire has a field for who says a message: chat has, unless the account knows
 * better. Where the roles must alternate it is of no use, for messages of two names cannot be joined.
 */
import { quirksOf } from './openai-chat/quirks.ts'
import type { Account } from './provider.ts'

export function takesNames(account: Account): boolean {
  if (account.wire !== 'chat') return false
  const { messageNames, strictAlternation } = quirksOf(account)
  return messageNames !== false && strictAlternation !== true
}
