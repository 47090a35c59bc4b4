/**
 * Whether a model of OpenAI's reads its reasoning only behind the messages that it was made on. For
 * newer ones the API drops what stands behind an edited message without a word, and charges for it
 * (https://developers.openai.com/api/docs/guides/preserved-reasoning).
 *
 * The guide does not name the models. They are taken to be those with `reasoning.context`, of which it
 * speaks: from gpt-5.6 on. An older one can still use what is sent, so nothing is kept from it.
 */
export function bindsReasoning(model: string): boolean {
  const [, major, minor] = VERSION.exec(model) ?? []
  if (major === undefined || model.includes('-chat')) return false
  return Number(major) * 100 + Number(minor ?? 0) >= 506
}

const VERSION = /^(?:.*\/)?(?:ft:)?gpt-(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])/
