/**
 * True if the response objects of an upstream may lack required fields: those of OpenAI and Azure are complete, those
 * of other servers only if the quirk `completeResponses` says so.
 */
import type { Account } from '../provider-interface.ts'

export function mayOmitResponseFields({ wire, baseUrl, quirks }: Account): boolean {
  if (wire !== 'responses') return false
  const { completeResponses } = quirks
  if (typeof completeResponses === 'boolean') return !completeResponses
  return !COMPLETE_HOSTS.test(URL.parse(baseUrl)?.hostname ?? '')
}

const COMPLETE_HOSTS = /(?:^|\.)(?:openai\.com|chatgpt\.com|azure\.(?:com|us|cn))$/
