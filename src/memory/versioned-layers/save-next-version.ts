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
  { place, round, parent, isTemporary, ...work }: VersionWrite,
  change: (before: StoredLayerVersion | null) => JsonObject | null,
  ports: Pick<LayerPorts, 'layers' | 'newTurnId' | 'nowMs'>,
): Promise<JsonObject | null> {
  let tried = 0
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const before = (await ports.layers.loadVersions(place)).at(-1) ?? null
    const number = (before?.number ?? 0) + 1
    // No other request took the number, so the store refused the version: its conversation was
    // deleted.
    if (number === tried) throw new Error('What it belongs to has been forgotten.')
    tried = number
    const body = change(before)
    if (body === null) return null
    const now = ports.nowMs()
    const version = {
      id: `lay_${ports.newTurnId()}`,
      place,
      number,
      // A branch may have fewer rounds, but the rounds of versions never decrease.
      round: Math.max(round, before?.round ?? 0),
      body,
      createdAtMs: now,
      usedAtMs: now,
      parent,
      isTemporary,
      work: { begunAtMs: work.begunAtMs, thread: work.thread },
    }
    if (await ports.layers.saveVersion(version)) return body
  }
  throw new Error('Others were always faster.')
}

const MOST_ATTEMPTS = 16
