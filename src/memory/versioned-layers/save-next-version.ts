/**
 * Writes a new version of a memory: whoever comes second of two that write at once begins again with
 * what the first has written, so that nothing of either is lost.
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
  /** The newest question, counted from 1. */
  readonly round: number
  readonly parent: string | null
  readonly isTemporary: boolean
}

/** `change` returns what to keep, or `null` to leave all as it is. Resolves to what is kept, or `null`. */
export async function saveNextVersion(
  { place, round, parent, isTemporary, ...work }: VersionWrite,
  change: (before: StoredLayerVersion | null) => JsonObject | null,
  ports: Pick<LayerPorts, 'layers' | 'newTurnId' | 'nowMs'>,
): Promise<JsonObject | null> {
  let tried = 0
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const before = (await ports.layers.loadVersions(place)).at(-1) ?? null
    const number = (before?.number ?? 0) + 1
    // Nobody has taken the number, and yet it could not be had.
    if (number === tried) throw new Error('What it belongs to has been forgotten.')
    tried = number
    const body = change(before)
    if (body === null) return null
    const now = ports.nowMs()
    const version = {
      id: `lay_${ports.newTurnId()}`,
      place,
      number,
      // In another branch there may be fewer by now: time goes on all the same.
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
