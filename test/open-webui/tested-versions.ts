/** The versions of Open WebUI that the suite tries: the one of docker-compose.yml first. */
export const TESTED_VERSIONS = ['0.12.4', '0.10.2'] as const
