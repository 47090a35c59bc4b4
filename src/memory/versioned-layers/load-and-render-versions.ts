/**
 * What the layers that keep a log of versions have in common. Of a conversation such a memory is
 * stable: there are rounds that everybody counts alike. Of a user it is volatile, because every
 * conversation counts its own. Who asks without a user has conversations only.
 */
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type {
  LayerKey,
  StoredLayerVersion,
} from '../../store/memory-layers/memory-layer-store-interface.ts'
import { splitSnapshotAndChanges } from './split-snapshot-and-changes.ts'
import type { LayerBand, LayerBlock, LayerContext } from '../memory-layer-interface.ts'

/** How a state is read from what is stored, and told. */
export interface StateRenderer<State> {
  readonly layer: string
  readonly read: (body: JsonObject) => State
  /** In at most so many tokens; `''` if there is nothing to tell. */
  readonly tell: (state: State, tokens: number) => string
  /** In words that stand by themselves; `''` if there is nothing to tell. */
  readonly tellChange: (before: State | null, after: State) => string
}

type Scoped = Pick<LayerContext, 'owner' | 'rules'>

export function resolveVersionedBand(context: Scoped): LayerBand {
  return isOfUser(context) ? 'volatile' : 'stable'
}

/** `null` where there is nowhere to keep anything. */
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

/** When there is more to tell of changes than so many tokens, all is told anew. */
const MOST_CHANGES = 256

/** About what a message with its tag weighs beside its text. */
const TAG_TOKENS = 40

/** That they are needed is said once a day. */
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
