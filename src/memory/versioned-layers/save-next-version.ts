/**
 * Saves a new version of a memory. If two requests write at once, the second one repeats its change
 * on the version of the first, so that no change is lost.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type {
  LayerKey,
  StoredLayerVersion,
} from '../../store/memory-layers/memory-layer-store-interface.ts'
import type { DerivedDataOrigin } from '../../store/deletion/derived-data-origin.ts'
import type { LayerPorts } from '../memory-layer-interface.ts'

export interface VersionWrite extends DerivedDataOrigin {
  readonly place: LayerKey
  /** Round of the latest question, counted from 1. */
  readonly round: number
  readonly parent: string | null
  readonly isTemporary: boolean
}

/**
 * `change` returns the new value, or `null` for no change. Resolves to the saved value, or `null`.
 */
export async function saveNextVersion(
  { place: location, round, parent, isTemporary, ...origin }: VersionWrite,
  change: (latest: StoredLayerVersion | null) => JsonObject | null,
  ports: Pick<LayerPorts, 'layers' | 'newTurnId' | 'nowMs'>,
): Promise<JsonObject | null> {
  let triedNumber = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const latest = (await ports.layers.loadVersions(location)).at(-1) ?? null
    const number = (latest?.number ?? 0) + 1
    // No other request took the number, so the store refused the version: its conversation was
    // deleted.
    if (number === triedNumber) throw new Error('What it belongs to has been forgotten.')
    triedNumber = number
    const body = change(latest)
    if (body === null) return null
    const now = ports.nowMs()
    const version = {
      id: `lay_${ports.newTurnId()}`,
      place: location,
      number,
      // A branch may have fewer rounds, but the rounds of versions never decrease.
      round: Math.max(round, latest?.round ?? 0),
      body,
      createdAtMs: now,
      usedAtMs: now,
      parent,
      isTemporary,
      work: { begunAtMs: origin.begunAtMs, thread: origin.thread },
    }
    if (await ports.layers.saveVersion(version)) return body
  }
  throw new Error('Others were always faster.')
}

const MAX_ATTEMPTS = 16
