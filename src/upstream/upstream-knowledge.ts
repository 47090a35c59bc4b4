/**
 * Keeps what this process has learned about its upstreams: their latest model lists, and the parameters that a
 * model has rejected. It is kept in memory only. After a restart the gateway learns it again, which costs a
 * rejected request at most.
 */
import type { JsonObject } from '../core/json/json.ts'
import type { UpstreamTarget } from './accounts-and-model-routing.ts'

export interface UpstreamKnowledge {
  /** Returns the latest model list of the account with this name; empty if there was none. */
  readonly getModels: (accountName: string) => readonly JsonObject[]
  readonly saveModels: (accountName: string, models: readonly JsonObject[]) => void
  /** True if the model has rejected the parameter within a day, e.g. `reasoning.effort none`. */
  readonly hasRejected: (target: UpstreamTarget, parameter: string) => boolean
  readonly saveRejection: (target: UpstreamTarget, parameter: string) => void
}

export function createUpstreamKnowledge(nowMs: () => number): UpstreamKnowledge {
  const models = new Map<string, readonly JsonObject[]>()
  const rejectedAtMs = new Map<string, number>()
  return {
    getModels: (accountName) => models.get(accountName) ?? [],
    saveModels: (accountName, list) => void models.set(accountName, list),
    hasRejected(target, parameter) {
      const savedAtMs = rejectedAtMs.get(buildKey(target, parameter))
      return savedAtMs !== undefined && nowMs() - savedAtMs < REJECTION_LIFETIME_MS
    },
    saveRejection(target, parameter) {
      const key = buildKey(target, parameter)
      rejectedAtMs.delete(key)
      rejectedAtMs.set(key, nowMs())
      const [oldest] = rejectedAtMs.keys()
      if (rejectedAtMs.size > MAX_REJECTIONS && oldest !== undefined) rejectedAtMs.delete(oldest)
    },
  }
}

/** An account may be allowed more after a day, e.g. when OpenAI has verified its organization. */
const REJECTION_LIFETIME_MS = 24 * 60 * 60 * 1000

/** Clients choose the names of models, so the number of entries must be limited. */
const MAX_REJECTIONS = 1000

function buildKey({ account, model }: UpstreamTarget, parameter: string): string {
  return JSON.stringify([account.name, model, parameter])
}
