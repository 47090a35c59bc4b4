/**
 * Contains what the layers with a log of versions share. A conversation's memory is stable, because
 * all its requests count rounds alike. A user's memory is volatile, because each conversation
 * counts its own rounds. A caller without a user has conversation memories only.
 */
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type {
  LayerKey,
  StoredLayerVersion,
} from '../../store/memory-layers/memory-layer-store-interface.ts'
import { splitSnapshotAndChanges } from './split-snapshot-and-changes.ts'
import type { LayerBand, LayerBlock, LayerContext } from '../memory-layer-interface.ts'

/** Reads a layer's state from the stored JSON, and renders it. */
export interface StateRenderer<State> {
  readonly layer: string
  readonly read: (body: JsonObject) => State
  /** Renders at most this many tokens; `''` if there is nothing to send. */
  readonly tell: (state: State, tokens: number) => string
  /** Renders a text that is understood without the state; `''` if nothing changed. */
  readonly tellChange: (before: State | null, after: State) => string
}

type Scoped = Pick<LayerContext, 'owner' | 'rules'>

export function resolveVersionedBand(context: Scoped): LayerBand {
  return isOfUser(context) ? 'volatile' : 'stable'
}

/** Returns `null` if there is neither a user nor a stored conversation. */
export function resolveVersionLocation(
  layer: string,
  context: Scoped & Pick<LayerContext, 'thread'>,
): LayerKey | null {
  const owner = { tenant: context.owner.tenant, user: context.owner.user }
  if (isOfUser(context)) return { owner, layer, thread: null }
  return context.thread === null ? null : { owner, layer, thread: context.thread }
}

function isOfUser({ owner, rules }: Scoped): boolean {
  return rules.scope === 'user' && owner.user !== null
}

export async function renderVersions<State>(
  context: LayerContext,
  words: StateRenderer<State>,
): Promise<LayerBlock | null> {
  const place = resolveVersionLocation(words.layer, context)
  if (place === null) return null
  const versions = await context.ports.layers.loadVersions(place)
  const newest = versions.at(-1)
  if (newest === undefined) return null
  if (place.thread === null) return { text: words.tell(words.read(newest.body), context.tokens) }
  return stableBlock(context, versions, words)
}

function stableBlock<State>(
  { round, tokens }: LayerContext,
  versions: readonly StoredLayerVersion[],
  { read, tell, tellChange }: StateRenderer<State>,
): LayerBlock {
  const states = versions.map((version) => ({ round: version.round, state: read(version.body) }))
  const forChanges = Math.min(MOST_CHANGES, Math.floor(tokens / 2))
  const weigh = (change: { readonly before: State | null; readonly after: State }): number => {
    const text = tellChange(change.before, change.after)
    return text === '' ? 0 : estimateTokens(text) + TAG_TOKENS
  }
  const { base, changes } = splitSnapshotAndChanges(states, round, weigh, forChanges)
  return {
    text: base === null ? '' : tell(base, tokens - forChanges),
    changes: changes.flatMap((change) => {
      const text = tellChange(change.before, change.after)
      return text === '' ? [] : [{ round: change.round, text }]
    }),
  }
}

/** If the changes exceed this limit, a new snapshot replaces them. */
const MOST_CHANGES = 256

/** Approximate tokens of a message's tag and envelope. */
const TAG_TOKENS = 40

/** Updates the time of use at most once a day; unused versions expire. */
export async function touchVersions(
  place: LayerKey,
  versions: readonly StoredLayerVersion[],
  { ports }: Pick<LayerContext, 'ports'>,
): Promise<void> {
  const usedAtMs = versions.at(-1)?.usedAtMs
  if (usedAtMs === undefined || usedAtMs > ports.nowMs() - DAY_MS) return
  await ports.layers.touchVersions(place, ports.nowMs())
}

const DAY_MS = 24 * 60 * 60 * 1000
