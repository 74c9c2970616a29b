package controllerruntime

// The modules that the tests of controller-runtime import, so that go.mod and go.sum have them.
import (
	_ "github.com/go-logr/logr"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/gofuzz"
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "github.com/onsi/gomega/gbytes"
	_ "github.com/onsi/gomega/ghttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/prometheus/client_model/go"
	_ "go.uber.org/goleak"
	_ "go.uber.org/zap/zapcore"
	_ "gomodules.xyz/jsonpatch/v2"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	_ "sigs.k8s.io/randfill"
	_ "sigs.k8s.io/structured-merge-diff/v6/typed"
)
