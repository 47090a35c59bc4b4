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
  readonly readState: (body: JsonObject) => State
  /** Renders at most this many tokens; `''` if there is nothing to send. */
  readonly renderState: (state: State, tokens: number) => string
  /** Renders a text that is understood without the state; `''` if nothing changed. */
  readonly renderChange: (before: State | null, after: State) => string
}

type ScopedContext = Pick<LayerContext, 'owner' | 'rules'>

export function resolveVersionedBand(context: ScopedContext): LayerBand {
  return isUserScoped(context) ? 'volatile' : 'stable'
}

/** Returns `null` if there is neither a user nor a stored conversation. */
export function resolveVersionLocation(
  layer: string,
  context: ScopedContext & Pick<LayerContext, 'thread'>,
): LayerKey | null {
  const owner = { tenant: context.owner.tenant, user: context.owner.user }
  if (isUserScoped(context)) return { owner, layer, thread: null }
  return context.thread === null ? null : { owner, layer, thread: context.thread }
}

function isUserScoped({ owner, rules }: ScopedContext): boolean {
  return rules.scope === 'user' && owner.user !== null
}

export async function renderVersions<State>(
  context: LayerContext,
  renderer: StateRenderer<State>,
): Promise<LayerBlock | null> {
  const location = resolveVersionLocation(renderer.layer, context)
  if (location === null) return null
  const versions = await context.ports.layers.loadVersions(location)
  const latest = versions.at(-1)
  if (latest === undefined) return null
  if (location.thread === null)
    return { text: renderer.renderState(renderer.readState(latest.body), context.tokens) }
  return renderStableBlock(context, versions, renderer)
}

function renderStableBlock<State>(
  { round, tokens }: LayerContext,
  versions: readonly StoredLayerVersion[],
  { readState, renderState, renderChange }: StateRenderer<State>,
): LayerBlock {
  const states = versions.map((version) => ({
    round: version.round,
    state: readState(version.body),
  }))
  const changeTokens = Math.min(MAX_CHANGE_TOKENS, Math.floor(tokens / 2))
  const weigh = (change: { readonly before: State | null; readonly after: State }): number => {
    const text = renderChange(change.before, change.after)
    return text === '' ? 0 : estimateTokens(text) + TAG_TOKENS
  }
  const { base, changes } = splitSnapshotAndChanges(states, round, weigh, changeTokens)
  return {
    text: base === null ? '' : renderState(base, tokens - changeTokens),
    changes: changes.flatMap((change) => {
      const text = renderChange(change.before, change.after)
      return text === '' ? [] : [{ round: change.round, text }]
    }),
  }
}

/** If the changes exceed this limit, a new snapshot replaces them. */
const MAX_CHANGE_TOKENS = 256

/** Approximate tokens of a message's tag and envelope. */
const TAG_TOKENS = 40

/** Updates the time of use at most once a day; unused versions expire. */
export async function touchVersions(
  location: LayerKey,
  versions: readonly StoredLayerVersion[],
  { ports }: Pick<LayerContext, 'ports'>,
): Promise<void> {
  const usedAtMs = versions.at(-1)?.usedAtMs
  if (usedAtMs === undefined || usedAtMs > ports.nowMs() - DAY_MS) return
  await ports.layers.touchVersions(location, ports.nowMs())
}

const DAY_MS = 24 * 60 * 60 * 1000
