// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealFeed} from "tickseal-client/contracts/TicksealFeed.sol";
import {TicksealPrices} from "tickseal-client/contracts/TicksealPrices.sol";
import {TicksealReader} from "tickseal-client/contracts/TicksealReader.sol";
import {vm} from "../src/Vm.sol";

/// Deploys a reader and the feed of one asset, and hands the reader to its owner, who must accept it.
///
///     TAXONOMY=1 SIGNERS=0x…,0x… ASSET=1 OWNER=0x… forge script script/Deploy.s.sol --rpc-url … --private-key … --broadcast
contract Deploy {
    function run() external returns (TicksealReader reader, TicksealFeed feed) {
        TicksealPrices.Terms memory terms = TicksealPrices.Terms({
            needsMarketStatus: true,
            maxInputAgeMs: 0,
            maxSpreadPpm: 0,
            maxQuoteAgeS: 3_600,
            rounds: 1
        });
        vm.startBroadcast();
        reader = new TicksealReader(uint16(vm.envUint("TAXONOMY")), 60, 30, vm.envAddress("SIGNERS", ","), terms);
        feed = new TicksealFeed(reader, uint16(vm.envUint("ASSET")), 8, 3_600, "BTC / USD");
        reader.transferOwnership(vm.envAddress("OWNER", ",")[0]);
        vm.stopBroadcast();
    }
}
