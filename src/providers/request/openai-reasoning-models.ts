/**
 * Knows the reasoning models of OpenAI by their names, also with a vendor (`openai/gpt-5.2`) or as a fine-tuned
 * model (`ft:gpt-5`).
 *
 * https://developers.openai.com/api/docs/guides/reasoning
 */

/** True for a model that reasons, and can be asked for a summary of its reasoning. */
export function isOpenAiReasoningModel(model: string): boolean {
  const name = getBareName(model)
  if (/^o1-(?:mini|preview)/.test(name)) return false
  return /^o\d/.test(name) || (readGptVersion(name) >= 500 && !name.includes('-chat'))
}

/**
 * Lists the efforts with which a model reasons least, the lowest first. The next one is for the case that the
 * upstream rejects the one before. The list is empty if the model does not reason, or accepts no low effort.
 */
export function listLowestOpenAiEfforts(model: string): readonly string[] {
  const name = getBareName(model)
  if (name.startsWith('gpt-oss')) return ['low']
  if (!isOpenAiReasoningModel(model) || name.includes('-pro')) return []
  const version = readGptVersion(name)
  if (version < 500 || name.includes('codex')) return ['low']
  return version > 500 ? ['none', 'low'] : ['minimal', 'low']
}

function getBareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).replace(/^ft:/, '')
}

/** Returns e.g. 502 for `gpt-5.2-mini`, and 0 for a name without a version. */
function readGptVersion(name: string): number {
  const [, major, minor] = /^gpt-(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])/.exec(name) ?? []
  return major === undefined ? 0 : Number(major) * 100 + Number(minor ?? 0)
}
