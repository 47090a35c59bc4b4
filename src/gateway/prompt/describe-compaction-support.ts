/** Who is to read a conversation, as far as it decides which compactions are told. */
import type { CompactionSupport } from '../../context/summaries/can-read-compaction.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { minCompactionThreshold } from './size/upstream-compaction-threshold.ts'

export function describeCompactionSupport({ account, model }: UpstreamTarget): CompactionSupport {
  const { wire, name } = account
  return { wire, account: name, compacts: minCompactionThreshold({ account, model }) !== null }
}
