/** 0x and hexadecimal digits. Addresses and hashes are lower case throughout. */
export type Hex = `0x${string}`
