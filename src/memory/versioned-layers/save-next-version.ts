/**
 * Saves a new version of a layer's memory. If two requests write at once, the second repeats its
 * change on the version of the first, so that no change is lost.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type {
  LayerKey,
  StoredLayerVersion,
} from '../../store/memory-layers/memory-layer-store-interface.ts'
import type { DerivedDataSource } from '../../store/deletion/expiry-and-deletion-store-interface.ts'
import type { LayerPorts } from '../memory-layer-interface.ts'

export interface MemoryVersionMetadata extends DerivedDataSource {
  readonly location: LayerKey
  /** Number of the latest question in the conversation, counted from 1. */
  readonly round: number
  readonly parent: string | null
  readonly isTemporary: boolean
}

/**
 * Resolves to the saved value; `null` if `change` returns `null`, which means that nothing changes.
 * `change` is called again with the latest version if another request has saved one in the
 * meantime.
 */
export async function saveNextVersion(
  { location, round, parent, isTemporary, ...derivedFrom }: MemoryVersionMetadata,
  change: (latest: StoredLayerVersion | null) => JsonObject | null,
  ports: Pick<LayerPorts, 'layers' | 'newTurnId' | 'nowMs'>,
): Promise<JsonObject | null> {
  let triedNumber = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const latest = (await ports.layers.loadVersions(location)).at(-1) ?? null
    const number = (latest?.number ?? 0) + 1
    // The number is still free, so no other request took it: the store refused the version because
    // its conversation was deleted.
    if (number === triedNumber) throw new Error('What it belongs to has been forgotten.')
    triedNumber = number
    const body = change(latest)
    if (body === null) return null
    const now = ports.nowMs()
    const version = {
      id: `lay_${ports.newTurnId()}`,
      key: location,
      number,
      // Another branch of the conversation may have fewer rounds, but the rounds of versions must
      // never decrease.
      round: Math.max(round, latest?.round ?? 0),
      body,
      createdAtMs: now,
      usedAtMs: now,
      parentTurnId: parent,
      isTemporary,
      derivedFrom,
    }
    if (await ports.layers.saveVersion(version)) return body
  }
  throw new Error('Others were always faster.')
}

const MAX_ATTEMPTS = 16
