// Package living shows that servers live, and that their tools are there at once: the whole
// program, real servers, real files. A situation of the specification mcp-client-and-cache,
// section 9, has the test TestSituationNN…, a promise of its section 11 TestPromiseNN…; bounds
// of time are five times the figures promised, since the machine may be busy. The long forms
// have the build tag stories.
//
// # Situations
//
// Those with "toolcache" have a test of the same number in package toolcache as well, which
// looks closer.
//
//	 1  TestSituation01FirstStart, …FirstList; toolcache
//	 2  TestSituation02NothingChanged; toolcache
//	 3  TestSituation03ConfigurationChanged, …BackAgain, …ServeOldOnChange, …EnvFileChanged; toolcache
//	 4  TestSituation04TreatedInAnotherWay
//	 5  TestSituation05Added
//	 6  TestSituation06Removed; toolcache
//	 7  TestSituation07Renamed; toolcache
//	 8  TestSituation08DisabledAndEnabled; toolcache
//	 9  TestSituation09BrokenFile, …LastGoodFile; toolcache
//	10  TestSituation10OneEntryBad; toolcache
//	11  TestSituation11ReadOnlyFile; toolcache
//	12  TestSituation12ReadOnlyFolder, …MissingFolder; toolcache
//	13  TestSituation13AsRoot, for root
//	14  TestSituation14DiskFull, on Linux for root; toolcache
//	15  TestSituation15TenWriters, …GatewaysShareAFile, …Union; toolcache
//	16  TestSituation16KilledWhileWriting; toolcache
//	17  TestSituation17Clock; toolcache, for the clock that is set in a run
//	18  TestSituation18HugeList; toolcache
//	19  TestSituation19EndlessCursor, …FewWarnings
//	20  TestSituation20DownWithEntry; toolcache
//	21  TestSituation21DownWithoutEntry
//	22  TestSituation22HangsInHandshake
//	23  TestSituation23ListChanges
//	24  TestSituation24RelistFails
//	25  TestSituation25OtherToolsAfterARestart, …ToolGoneSinceTheLastRun
//	26  TestSituation26BadEntries; toolcache
//	27  TestSituation27OneNameTwice
//	28  TestSituation28DefinitionChanged
//	29  TestSituation29EditedTools; toolcache
//	30  TestSituation30NewerMajor; toolcache
//	31  TestSituation31OtherProgramsCache; toolcache
//	32  TestSituation32SymbolicLink; toolcache
//	33  TestSituation33HungMount, on Linux for root; toolcache
//	34  TestSituation34AnotherUser
//	35  TestSituation35EmptyList; toolcache
//	36  TestSituation36ManyServers
//	37  TestSituation37Downgrade; toolcache
//	38  TestSituation38NamesThatDifferInCase; renames that Windows refuses for a moment are
//	    package atomicfile's
//	39  TestSituation39ReplacedWhileRunning; toolcache
//	40  TestSituation40DeletedWhileRunning; toolcache
//
// Beside them, TestRebuiltServer is rule R-CH-3, and TestCacheCommandsBesideAGateway,
// TestCacheClearActsAtOnce and TestCacheClearAndRefresh are what commands do to a gateway that
// runs.
//
// # Promises
//
//	 1  TestPromise01And02PackageRunner, with npx
//	 2  the same
//	 3  TestPromise03OneLineAMessage
//	 4  mcp: TestClientTranscripts
//	 5  the same
//	 6  TestPromise06SilentLegacyServer; mcp: TestConnectSilentServer
//	 7  TestPromise07CallFromTheCommandLine
//	 8  TestPromise08AnswersBelongToTheirCalls; mcp: TestConnStrangeIDs
//	 9  mcp: TestConnNoise; test/faults: TestNoise
//	10  TestPromise10ErrorOfTheServer
//	11  test/faults: TestNoise, with 50 MB in its long form
//	12  TestPromise12Banner
//	13  TestPromise13FromSettingsToAnswer
//	14  test/faults: TestNothingIsLeftBehind
//	15  the same
//	16  TestPromise16Crash; upstream: TestDelaysRiseToTheCap, TestRestartAfterACrash
//	17  TestPromise17ToolsOfEachStep
//	18  TestSituation01FirstList, …FirstStart
//	19  TestPromise19EveryTransport
//	20  TestSituation23ListChanges
//	21  TestSituation03ConfigurationChanged
//	22  TestPromise22FailedStartKeepsTheEntry
//	23  TestSituation26BadEntries, TestSituation35EmptyList
//	24  TestSituation16KilledWhileWriting
//	25  TestSituation01FirstStart, TestSituation15TenWriters, TestPromise43Stats
//	26  TestSituation33HungMount; toolcache: TestSlowDiskDelaysNobody
//	27  TestSituation10OneEntryBad
//	28  TestSituation09BrokenFile
//	29  TestSituation11ReadOnlyFile
//	30  TestSituation14DiskFull
//	31  upstream/entry: TestConfigHash, TestConfigHashVectors
//	32  toolcache: TestFormat, TestVerifyFindings
//	33  TestSituation17Clock; toolcache: TestVerdicts
//	34  toolcache: TestDamagesServeNoBadTool
//	35  TestCacheCommandsBesideAGateway; toolcache: TestFormat
//	36  TestPromise36Names
//	37  TestPromise37And38ImportAndMigrate, TestSituation30NewerMajor, TestSituation31OtherProgramsCache
//	38  TestPromise37And38ImportAndMigrate, TestSituation31OtherProgramsCache; toolcache: TestMigration
//	39  TestSituation06Removed
//	40  TestSituation20DownWithEntry
//	41  TestSituation01FirstStart
//	42  TestNothingInClear
//	43  TestPromise43Stats
//	44  TestPromise44Faster
//	45  TestSituation36ManyServers
//	46  TestSituation02NothingChanged
//	47  TestPromise47StaleWhileRevalidating
//	48  TestPromise48WarmedUp, …WarmUpFails
//	49  TestPromise49NoTimerStartsAServer
//	50  TestPromise50Compression, TestSituation18HugeList
//	51  TestPromise51SharedFolder, …DeadPlace; toolcache: TestOneRefreshForTenGateways,
//	    TestSharedEntriesMustBeSigned
//	52  TestSituation15TenWriters, …GatewaysShareAFile, …Union
//	53  TestSituation18HugeList
package living
