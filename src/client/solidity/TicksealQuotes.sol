// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealOwned} from "./TicksealOwned.sol";
import {TicksealPrices} from "./TicksealPrices.sol";
import {TicksealSlot} from "./TicksealSlot.sol";

/// Answers ERC-7726: the worth of an amount of one token in another. The owner names the tokens; an address of ERC-7726 that is no token
/// works too, such as `address(840)` for US dollars.
///
/// - All assets that tokens use must be priced in one currency, which the owner names as the unit: else a quote mixes currencies.
/// - A quote is rounded down, once. Amounts whose product with the prices exceeds 256 bits revert.
/// - A pair with a token that is not named reverts with `OracleUnsupportedPair`.
/// - A price that is zero, negative, missing, or older than `maxQuoteAgeS` reverts with `OracleUntrustedData`. Bounds of market,
///   spread and input age are checked where prices are stored.
abstract contract TicksealQuotes is TicksealOwned, TicksealPrices {
    using TicksealSlot for uint256;

    error OracleUnsupportedPair(address base, address quote);
    error OracleUntrustedData(address base, address quote);
    /// More decimals than the arithmetic of quotes has room for.
    error TooManyDecimals(uint8 decimals);

    event TokenSet(address indexed token, Kind kind, uint16 assetId, uint8 decimals);

    enum Kind {
        None,
        Asset,
        Unit
    }

    /// A token, or another thing that has an address in ERC-7726.
    struct Token {
        Kind kind;
        uint16 assetId;
        uint8 decimals;
    }

    uint8 private constant DECIMALS_MAX = 36;
    uint256 private constant ONE = 1e18;

    mapping(address token => Token) public tokens;

    /// Names the asset whose price is that of one whole token, or removes a token with the kind `None`. The unit is the currency of all
    /// prices: it has the price 1.
    function setToken(address token, Kind kind, uint16 assetId, uint8 decimals) external onlyOwner {
        if (decimals > DECIMALS_MAX) revert TooManyDecimals(decimals);
        tokens[token] = Token(kind, assetId, decimals);
        emit TokenSet(token, kind, assetId, decimals);
    }

    /// Returns the amount of `quote` that is worth `amount` of `base`.
    function getQuote(uint256 amount, address base, address quote) external view returns (uint256) {
        (Token memory from, Token memory to) = (tokens[base], tokens[quote]);
        if (from.kind == Kind.None || to.kind == Kind.None) revert OracleUnsupportedPair(base, quote);
        (uint256 numerator, uint256 denominator) = (_priceOf(from), _priceOf(to));
        if (numerator == 0 || denominator == 0) revert OracleUntrustedData(base, quote);
        if (to.decimals > from.decimals) numerator *= 10 ** (to.decimals - from.decimals);
        else denominator *= 10 ** (from.decimals - to.decimals);
        return amount * numerator / denominator;
    }

    /// Returns the price of a token times 10^18; zero when there is none that a quote may use.
    function _priceOf(Token memory token) private view returns (uint256) {
        if (token.kind == Kind.Unit) return ONE;
        uint256 slot = slotOf(token.assetId);
        if (block.timestamp > slot.timeSOf() + maxQuoteAgeS) return 0;
        int128 value = slot.valueOf();
        return value < 0 ? 0 : uint128(value);
    }
}
