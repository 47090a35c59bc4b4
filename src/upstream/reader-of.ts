/** Who is to read a conversation, as far as it decides which compactions are told. */
import type { Reader } from '../rebuild/reads-compaction.ts'
import type { Target } from './accounts.ts'
import { compactsFrom } from './compact-above.ts'

export function readerOf({ account, model }: Target): Reader {
  const { wire, name } = account
  return { wire, account: name, compacts: compactsFrom({ account, model }) !== null }
}
