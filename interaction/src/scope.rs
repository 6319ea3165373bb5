//! The tree that says which listeners see which agents, and how long a listener's world lasts.
//!
//! Scopes compare by identity, never by their label. A listener of a scope sees the requests of
//! that scope and of all below it. Every scope has a generation; what is registered belongs to the
//! generation of that moment. A request takes a [`Lease`] of its scope and of all above: whatever
//! is published afterwards, the request keeps the generations that it began with, and a generation
//! that was replaced has *drained* when its last lease is given back.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::Notify;

/// The links of all trees. Who adds one holds it from looking for a cycle to the link, or two that
/// are added at once might close one; who walks up holds it, or it might see a tree that never was.
static LINKS: RwLock<()> = RwLock::new(());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many may be above a scope when it is linked: what is deeper is a mistake.
const DEPTH_MAX: usize = 64;

/// One world of a scope, from one publication to the next.
struct Generation {
    number: u64,
    /// Grows under the lock of its place only, while it is in force: replaced and without a lease,
    /// it stays so.
    leases: AtomicUsize,
    drained: Notify,
}

impl Generation {
    fn new(number: u64) -> Arc<Self> {
        Arc::new(Self { number, leases: AtomicUsize::new(0), drained: Notify::new() })
    }

    fn leases(&self) -> usize {
        self.leases.load(Ordering::SeqCst)
    }
}

struct Place {
    parent: Option<Scope>,
    generation: Arc<Generation>,
}

struct Node {
    label: String,
    place: Mutex<Place>,
}

/// A scope. Copies are the same scope.
#[derive(Clone)]
pub struct Scope(Arc<Node>);

/// Why a scope was not linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// It has a parent, and only the binding that gave it may give another.
    #[error(
        "dsh-scope: scope key is already bound to a parent; re-linking requires the binding \
         returned by the original bind"
    )]
    AlreadyBound,
    /// It would be above itself.
    #[error("dsh-scope: scope parent link would form a cycle")]
    Cycle,
    /// It would lie deeper than any scope should.
    #[error("a scope lies below at most {DEPTH_MAX} others")]
    TooDeep,
}

impl Scope {
    /// Makes a scope without a parent. The label is for people.
    pub fn new(label: impl Into<String>) -> Self {
        let place = Place { parent: None, generation: Generation::new(1) };
        Self(Arc::new(Node { label: label.into(), place: Mutex::new(place) }))
    }

    /// Makes a scope below this one, for good.
    ///
    /// # Errors
    ///
    /// [`ScopeError::TooDeep`].
    pub fn child(&self, label: impl Into<String>) -> Result<Self, ScopeError> {
        let child = Self::new(label);
        child.bind(self)?.keep();
        Ok(child)
    }

    /// Puts the scope below another one.
    ///
    /// # Errors
    ///
    /// [`ScopeError::AlreadyBound`], [`ScopeError::Cycle`], [`ScopeError::TooDeep`].
    pub fn bind(&self, parent: &Scope) -> Result<Binding, ScopeError> {
        let _links = LINKS.write().unwrap_or_else(PoisonError::into_inner);
        if lock(&self.0.place).parent.is_some() {
            return Err(ScopeError::AlreadyBound);
        }
        self.check(parent)?;
        lock(&self.0.place).parent = Some(parent.clone());
        Ok(Binding { scope: self.clone(), keeps: false })
    }

    /// Looks whether a link is sound. Who calls holds the links.
    fn check(&self, parent: &Scope) -> Result<(), ScopeError> {
        let chain = parent.walk();
        if chain.contains(self) {
            return Err(ScopeError::Cycle);
        }
        if chain.len() > DEPTH_MAX { Err(ScopeError::TooDeep) } else { Ok(()) }
    }

    /// Returns the label.
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// Returns the scope and those above it, the nearest first.
    pub fn chain(&self) -> Vec<Scope> {
        let _links = LINKS.read().unwrap_or_else(PoisonError::into_inner);
        self.walk()
    }

    /// Walks up, which ends since no link closes a cycle. Who calls holds the links.
    fn walk(&self) -> Vec<Scope> {
        let mut chain = vec![self.clone()];
        while let Some(above) = chain.last().and_then(|scope| lock(&scope.0.place).parent.clone()) {
            chain.push(above);
        }
        chain
    }

    /// Returns the number of the generation in force; the first is 1.
    pub fn generation(&self) -> u64 {
        lock(&self.0.place).generation.number
    }

    /// Takes a lease of what is in force here and above.
    pub fn lease(&self) -> Lease {
        let hold = |scope: Scope| {
            let place = lock(&scope.0.place);
            let generation = Arc::clone(&place.generation);
            // Under the lock: behind a publication nobody may take the old one any more.
            generation.leases.fetch_add(1, Ordering::SeqCst);
            drop(place);
            (scope, generation)
        };
        Lease(self.chain().into_iter().map(hold).collect())
    }

    /// Publishes a new generation. Requests that hold the old one keep it; new ones see what is
    /// registered from now on.
    pub fn publish(&self) -> Replaced {
        let mut place = lock(&self.0.place);
        let next = Generation::new(place.generation.number + 1);
        Replaced(std::mem::replace(&mut place.generation, next))
    }

    /// Ends what is in force here and waits until every request that holds it has drained.
    pub async fn release(&self) {
        self.publish().drained().await;
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp(Some((self.clone(), Arc::clone(&lock(&self.0.place).generation))))
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Scope {}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.0.label).finish()
    }
}

/// The right to move a scope. Dropping it unlinks the scope.
#[must_use = "the link ends when it is dropped"]
#[derive(Debug)]
pub struct Binding {
    scope: Scope,
    keeps: bool,
}

impl Binding {
    /// Puts the scope below another parent.
    ///
    /// # Errors
    ///
    /// [`ScopeError::Cycle`], [`ScopeError::TooDeep`]; the old link stays.
    pub fn rebind(&self, parent: &Scope) -> Result<(), ScopeError> {
        let _links = LINKS.write().unwrap_or_else(PoisonError::into_inner);
        self.scope.check(parent)?;
        lock(&self.scope.0.place).parent = Some(parent.clone());
        Ok(())
    }

    /// Lets the link stand for good.
    pub fn keep(mut self) {
        self.keeps = true;
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        if !self.keeps {
            let _links = LINKS.write().unwrap_or_else(PoisonError::into_inner);
            lock(&self.scope.0.place).parent = None;
        }
    }
}

/// A generation that was replaced.
pub struct Replaced(Arc<Generation>);

impl Replaced {
    /// Returns how many requests still hold it.
    pub fn leases(&self) -> usize {
        self.0.leases()
    }

    /// Waits until no request holds it.
    pub async fn drained(&self) {
        loop {
            // Asked for before the look, so that nothing is missed between the two.
            let drained = self.0.drained.notified();
            if self.leases() == 0 {
                return;
            }
            drained.await;
        }
    }
}

impl fmt::Debug for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replaced")
            .field("generation", &self.0.number)
            .field("leases", &self.leases())
            .finish()
    }
}

/// What a request holds of its scope and of those above, until it has drained.
#[must_use = "the lease is given back when it is dropped"]
pub struct Lease(Vec<(Scope, Arc<Generation>)>);

impl Lease {
    /// Returns whether it is a lease of this scope, and not only of one below it.
    pub fn is_of(&self, scope: &Scope) -> bool {
        self.0.first().is_some_and(|(held, _)| held == scope)
    }

    /// Returns whether a registration is visible to its holder.
    pub(crate) fn sees(&self, stamp: &Stamp) -> bool {
        let Some((scope, generation)) = &stamp.0 else { return true };
        self.0.iter().any(|(held, of)| held == scope && Arc::ptr_eq(of, generation))
    }

    /// Returns how far above the holder's scope a registration's scope lies: 0 for the same, and
    /// nothing for a global or an invisible one.
    pub(crate) fn distance(&self, stamp: &Stamp) -> Option<usize> {
        let (scope, generation) = stamp.0.as_ref()?;
        self.0.iter().position(|(held, of)| held == scope && Arc::ptr_eq(of, generation))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        for (_, generation) in &self.0 {
            if generation.leases.fetch_sub(1, Ordering::SeqCst) == 1 {
                generation.drained.notify_waiters();
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(scope, of)| (scope, of.number))).finish()
    }
}

/// Where a registration belongs: everywhere, or to a generation of a scope.
#[derive(Clone)]
pub(crate) struct Stamp(Option<(Scope, Arc<Generation>)>);

impl Stamp {
    pub(crate) const GLOBAL: Self = Self(None);

    pub(crate) fn is_global(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether two belong to the same layer: both global, or of the same generation.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some((_, one)), Some((_, other))) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// What a composition may register: anything, or only within its own scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Globally, and in any scope.
    Root,
    /// In this scope only.
    Within(Scope),
}

/// Why something was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// A scoped composition wanted to be seen everywhere.
    #[error("what belongs to scope \"{scope}\" cannot be registered globally")]
    NotGlobal {
        /// The composition's scope.
        scope: String,
    },
    /// A scoped composition wanted to be seen in another scope.
    #[error("what belongs to scope \"{scope}\" cannot be registered in scope \"{wanted}\"")]
    ForeignScope {
        /// The composition's scope.
        scope: String,
        /// Where it wanted to be registered.
        wanted: String,
    },
}

impl Authority {
    /// Returns the stamp of something that is registered globally, or in a scope.
    pub(crate) fn stamp(&self, wanted: Option<&Scope>) -> Result<Stamp, RegisterError> {
        match (self, wanted) {
            (Self::Root, None) => Ok(Stamp::GLOBAL),
            (Self::Root, Some(scope)) => Ok(scope.stamp()),
            (Self::Within(own), None) => {
                Err(RegisterError::NotGlobal { scope: own.label().to_owned() })
            }
            (Self::Within(own), Some(wanted)) if own == wanted => Ok(wanted.stamp()),
            (Self::Within(own), Some(wanted)) => Err(RegisterError::ForeignScope {
                scope: own.label().to_owned(),
                wanted: wanted.label().to_owned(),
            }),
        }
    }
}
