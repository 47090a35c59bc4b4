/**
 * Completes a base URL that ends before the version of the API. The base URLs of Anthropic's and Google's own SDKs
 * end there, e.g. `https://api.anthropic.com`, because these SDKs request `/v1/messages`; the gateway appends `/messages`.
 */
import type { WireName } from '../providers/provider-interface.ts'

const VERSIONS: Partial<Record<WireName, string>> = { anthropic: '/v1', gemini: '/v1beta' }

/**
 * Returns the URL with the version, e.g. `https://api.anthropic.com/v1`, if its path ends without one. OpenAI's SDKs
 * expect the version in the base URL, and not every server has one, so URLs of their wires stay unchanged.
 */
export function completeBaseUrl(wire: WireName, baseUrl: string): string {
  const version = VERSIONS[wire]
  return version === undefined || HAS_VERSION.test(baseUrl) ? baseUrl : baseUrl + version
}

/**
 * Matches a version at the end, and Google's other form: `https://…/v1/projects/p/locations/l/publishers/google`. A
 * proxy may have a version of its own, e.g. `https://gateway.ai.cloudflare.com/v1/a/b/anthropic`.
 */
const HAS_VERSION = /\/v\d+(?:(?:alpha|beta)\d*)?(?:$|\/projects\/)/

/** Like `completeBaseUrl`, but leaves a URL with a path unchanged: it may be that of another server. */
export function completeBareHost(wire: WireName, baseUrl: string): string {
  return URL.canParse(baseUrl) && new URL(baseUrl).pathname === '/'
    ? completeBaseUrl(wire, baseUrl)
    : baseUrl
}
