/**
 * Loads and renders a memory that is stored as a log of versions, e.g. the working memory. The
 * memory of one conversation is stable (sent before the history), because all its requests count
 * rounds alike. The memory of a user is volatile (sent after the history), because each
 * conversation counts its own rounds. If the user is not known, each conversation has its own
 * memory.
 */
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type {
  LayerKey,
  StoredLayerVersion,
} from '../../store/memory-layers/memory-layer-store-interface.ts'
import { splitSnapshotAndChanges, type ChangedState } from './split-snapshot-and-changes.ts'
import type { LayerStability, LayerBlock, LayerContext } from '../memory-layer-interface.ts'

/** Reads a layer's memory from the stored JSON, and renders it. */
export interface StateRenderer<State> {
  readonly layer: string
  readonly readState: (body: JsonObject) => State
  /** Renders the memory in at most this many tokens; `''` if there is nothing to send. */
  readonly renderState: (state: State, tokens: number) => string
  /**
   * Renders the difference between two versions of the memory as a text that can be understood
   * without either version; `''` if nothing changed.
   */
  readonly renderChange: (before: State | null, after: State) => string
}

type ScopedContext = Pick<LayerContext, 'owner' | 'rules'>

export function resolveVersionedStability(context: ScopedContext): LayerStability {
  return isUserScoped(context) ? 'volatile' : 'stable'
}

/**
 * Returns the key under which a layer's versions are stored; `null` if there is neither a user nor
 * a stored conversation.
 */
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
  const countTokens = ({ before, after }: ChangedState<State>): number => {
    const text = renderChange(before, after)
    return text === '' ? 0 : estimateTokens(text) + TAG_TOKENS
  }
  const { snapshot, changes } = splitSnapshotAndChanges(states, round, countTokens, changeTokens)
  return {
    text: snapshot === null ? '' : renderState(snapshot, tokens - changeTokens),
    changes: changes.flatMap((change) => {
      const text = renderChange(change.before, change.after)
      return text === '' ? [] : [{ round: change.round, text }]
    }),
  }
}

/** Maximum tokens of the changes. If they exceed it, a new snapshot of the memory replaces them. */
const MAX_CHANGE_TOKENS = 256

/** Approximate tokens of a message's tag and envelope. */
const TAG_TOKENS = 40

/** Updates the time of use, at most once a day. Versions that are not used for long expire. */
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
