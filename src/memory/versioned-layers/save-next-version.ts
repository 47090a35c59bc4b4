/**
 * Saves a new version of a layer's memory. If two requests save a version at the same time, the
 * second one repeats its change on the version of the first, so that no change is lost.
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
 * Saves the memory that `change` returns for the latest version, and resolves to it. If another
 * request saves a version in the meantime, `change` is called again with that version. If `change`
 * returns `null`, nothing is saved, and the result is `null`.
 */
export async function saveNextVersion(
  { location, round, parent, isTemporary, ...derivedFrom }: MemoryVersionMetadata,
  change: (latest: StoredLayerVersion | null) => JsonObject | null,
  ports: Pick<LayerPorts, 'layers' | 'newTurnId' | 'nowMs'>,
): Promise<JsonObject | null> {
  let triedNumber = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const latest = (await ports.layers.loadVersions(location, 'fail')).at(-1) ?? null
    const number = (latest?.number ?? 0) + 1
    // No other request has saved a version with this number, but the store refused it, because the
    // conversation was deleted.
    if (number === triedNumber)
      throw new Error('The conversation that the memory belongs to was deleted.')
    triedNumber = number
    const body = change(latest)
    if (body === null) return null
    const now = ports.nowMs()
    const version = {
      id: `lay_${ports.newTurnId()}`,
      key: location,
      number,
      // The conversation may have another branch with more rounds that saved the latest version,
      // but round numbers must never decrease from version to version.
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
  throw new Error('Other requests saved a new version of the memory at each attempt.')
}

const MAX_ATTEMPTS = 16
