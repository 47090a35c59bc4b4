/**
 * Derives from the name of a Gemini model what it supports. A model with an unknown name gets no
 * optional features. An alias such as `gemini-flash-latest` counts as the latest version.
 */
export interface ModelTraits {
  /** The path of the model in the URL, e.g. `models/gemini-3-pro-preview`. */
  readonly path: string
  /** The version, e.g. 2.5 or 3.1; `null` if the name contains none. */
  readonly generation: number | null
  readonly tier: 'pro' | 'flash' | 'flash-lite' | null
  /**
   * The way to turn thinking on: a token budget (`budget`), a level such as `LOW` (`level`), only a
   * request to show the thoughts (`shown`), or none.
   */
  readonly thinkingMode: 'budget' | 'level' | 'shown' | 'none'
  /**
   * True for models from Gemini 3 on. They require signatures on tool calls, accept media in tool
   * outputs, and can combine JSON output with tools.
   */
  readonly isGeneration3OrLater: boolean
  readonly hasSystemInstruction: boolean
  /**
   * True if a request may end with an assistant message (prefill), which the model then continues.
   */
  readonly supportsPrefill: boolean
}

/** The version of an alias such as `gemini-flash-latest`; higher than all real versions. */
const LATEST_GENERATION = 99

export function getModelTraits(name: string): ModelTraits {
  const bare = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const generation = parseGeneration(bare)
  const tier = parseTier(bare)
  return {
    path: buildPath(name),
    generation,
    tier,
    thinkingMode: chooseThinkingMode(bare, generation),
    isGeneration3OrLater: generation !== null && generation >= 3,
    hasSystemInstruction: !/^gemma-[123]/.test(bare),
    supportsPrefill: generation === null || generation <= 3.1 || bare === 'gemini-3.5-flash',
  }
}

/**
 * True if the model `reader` accepts thought signatures of the model `makerModel`: both have the
 * same major version and tier, e.g. 3 Pro and 3.1 Pro. Ignores the minor version, because a client
 * may request a model by an alias, while the answer, and so `makerModel`, names a version.
 */
export function canReadSignatures(reader: ModelTraits, makerModel: string): boolean {
  const maker = getModelTraits(makerModel)
  if (reader.tier !== null && maker.tier !== null && reader.tier !== maker.tier) return false
  const [one, other] = [reader.generation, maker.generation]
  if (one === null || other === null || one === LATEST_GENERATION || other === LATEST_GENERATION)
    return true
  return Math.floor(one) === Math.floor(other)
}

function buildPath(name: string): string {
  const [, folder = 'models', bare = name] = /^(models|tunedModels)\/(.+)$/.exec(name) ?? []
  return `${folder}/${encodeURIComponent(bare)}`
}

function parseGeneration(name: string): number | null {
  if (!name.startsWith('gemini-')) return null
  const version = /^gemini-(\d{1,2}(?:\.\d{1,2})?)(?:-|$)/.exec(name)?.[1]
  if (version !== undefined) return Number(version)
  return name.endsWith('-latest') ? LATEST_GENERATION : null
}

function parseTier(name: string): ModelTraits['tier'] {
  if (name.includes('flash-lite')) return 'flash-lite'
  if (name.includes('flash')) return 'flash'
  return /-pro(?:-|$)/.test(name) ? 'pro' : null
}

function chooseThinkingMode(name: string, generation: number | null): ModelTraits['thinkingMode'] {
  if (generation === null || generation < 2.5) return 'none'
  if (/-(?:tts|audio|live|embedding)(?:-|$)/.test(name)) return 'none'
  if (name.includes('-image')) return generation >= 3 ? 'shown' : 'none'
  return generation >= 3 ? 'level' : 'budget'
}
