/** Who is to read a conversation, as far as it decides which compactions are told. */
import type { Reader } from '../../context/summaries/can-read-compaction.ts'
import type { Target } from '../../upstream/accounts-and-model-routing.ts'
import { compactsFrom } from './size/upstream-compaction-threshold.ts'

export function readerOf({ account, model }: Target): Reader {
  const { wire, name } = account
  return { wire, account: name, compacts: compactsFrom({ account, model }) !== null }
}
